"""dpfast plan: what a model needs and what is guaranteed, before there is any data."""

import typer

from . import decision_list, experts, halfspace, halfspaces, littlestone, wanted, winnow

app = typer.Typer(help="Show what a model needs and what is guaranteed, before there is any data.")
app.callback(invoke_without_command=True)(wanted.wanted)
app.command("decision-list")(decision_list.decision_list)
app.command("halfspace")(halfspace.halfspace)
app.command("winnow")(winnow.winnow)
app.command("boost")(halfspaces.boost)
app.command("projected")(halfspaces.projected)
app.command("net")(halfspaces.net)
app.command("finite-class")(experts.finite_class)
app.command("littlestone")(littlestone.littlestone)
app.command("experts")(experts.experts)
