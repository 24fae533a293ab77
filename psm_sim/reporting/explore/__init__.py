"""Interactive page for the browser, which simulates while its controls are changed."""
