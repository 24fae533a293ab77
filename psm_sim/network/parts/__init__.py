"""Optional parts of a world, which :mod:`psm_sim.network.build` chooses."""
