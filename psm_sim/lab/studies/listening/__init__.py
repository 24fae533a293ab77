"""Study of listening and anticipating: what one bit, a learner and a waiting law are worth."""
