"""The keyboard of the whole desktop: keys that work in every app, and text pasted into the app in front; each system has files of its own."""
