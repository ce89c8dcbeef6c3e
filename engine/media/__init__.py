"""Documents, images and sound: from files to arrays."""
