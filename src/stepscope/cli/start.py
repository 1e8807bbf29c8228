"""`stepscope start`: the server, in the foreground."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from stepscope.cli.browser import open_page
from stepscope.cli.command import Command, Failure
from stepscope.cli.server import add_server_options, check_server_options

if TYPE_CHECKING:
    from stepscope.server.settings import ServerAddress


def run(options: argparse.Namespace) -> int:
    check_server_options(options)
    from stepscope.server.app import serve
    from stepscope.server.errors import StartError
    from stepscope.server.settings import Settings

    def ready(address: ServerAddress) -> None:
        print(f"stepscope is ready: {address.url}", flush=True)
        print(how_to_connect(address), flush=True)
        open_page(options, address.url)

    settings = Settings(
        host=options.host,
        port=options.port,
        debugger_port=options.debugger_port,
        enable_debugger=options.enable_debugger,
        original_clients=options.enable_original_clients,
        workspace=options.workspace,
        token=getattr(options, "token", None),
    )
    try:
        serve(settings, ready)
    except StartError as error:
        raise Failure(str(error)) from None
    return 0


def how_to_connect(address: ServerAddress) -> str:
    if address.debugger_port is None:
        return "The debugger is switched off (--enable-debugger False): no training can connect."
    token = f" STEPSCOPE_TOKEN={address.token}" if address.token else ""
    return (
        f"Connect a training: ENABLE_MS_DEBUGGER=1 MS_DEBUGGER_HOST={address.debugger_host}"
        f" MS_DEBUGGER_PORT={address.debugger_port}{token} python train.py"
    )


COMMAND = Command(
    name="start",
    summary="Start the debugger: the web page, and the service that trainings connect to.",
    example="stepscope start --port 8080 --debugger-port 50051",
    add_options=add_server_options,
    run=run,
)
