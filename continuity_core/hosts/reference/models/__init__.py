"""Models over the providers' SDKs; an SDK is imported when its model is first asked."""
