"""How the panes behave, without any widget: plain objects that views draw and tests drive."""
