"""UCB Home IP files for tests."""

SHOWTRACE = (
    "846890340:0 846890340:90000 846890340:95000 10.0.0.1:1024 20.0.0.1:80 2 8 0 0 0 9 2000 20"
    " GET 1..html HTTP/1.0\n"
    "846890350:0 846890350:90000 846890350:95000 10.0.0.1:1024 20.0.0.1:80 2 8 0 0 0 9 2000 20"
    " GET 2..html HTTP/1.0\n"
)
"""Two pages of one client, in the text format."""
