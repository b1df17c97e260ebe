"""Stores on other machines: each is read by the `hermes-browse` there, over OpenSSH."""
