"""dpfast plan: what a model needs and what is guaranteed, before there is any data."""

from ..commands import App
from . import classes, decision_list, halfspaces, noise, online

app = App(help="Show what a model needs and what is guaranteed, before there is any data.")
app.callback(invoke_without_command=True)(noise.plan)
app.command("decision-list")(decision_list.decision_list)
app.command("halfspace")(noise.halfspace)
app.command("winnow")(online.winnow)
app.command("boost")(halfspaces.boost)
app.command("projected")(halfspaces.projected)
app.command("net")(halfspaces.net)
app.command("finite-class")(classes.finite_class)
app.command("littlestone")(classes.littlestone)
app.command("experts")(online.experts)
