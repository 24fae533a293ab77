"""Study of the policies that decide at each beacon whether to receive it."""
