"""What is known of providers' errors, as data: each row with who is known to say it.

A new provider is a few rows here and a case in the tests.
"""
