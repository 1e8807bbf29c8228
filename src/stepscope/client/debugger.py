"""The connection to a server, and its jobs."""

from __future__ import annotations

import time
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from stepscope.client.http import Http
from stepscope.client.job import Job
from stepscope.core.errors import ConnectionFailed, Timeout

_POLL_SECONDS = 0.1


def connect(url: str = "http://127.0.0.1:8080", token: str | None = None) -> Debugger:
    """Connect to a running server. The address may be the one that it printed, with the token in it.

    Raises ConnectionFailed where nothing answers, something else does, or the token is wrong.
    """
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConnectionFailed(f"{url!r} is not the address of a server, such as http://127.0.0.1:8080")
    token = token or parse_qs(parts.query).get("token", [None])[0]
    http = Http(f"{parts.scheme}://{parts.netloc}", token)
    try:
        http.check()
    except BaseException:
        http.close()
        raise
    return Debugger(http)


class Debugger:
    """A server. Close it, or use it in a `with` block."""

    def __init__(self, http: Http):
        self._http = http

    @property
    def url(self) -> str:
        return self._http.url

    def jobs(self) -> list[Job]:
        """All jobs, in order of arrival, also those that have ended."""
        return [Job(self._http, each["id"]) for each in self._http.get("/api/jobs")["jobs"]]

    def job(self, job_id: str) -> Job:
        """Raises UnknownJob."""
        return Job(self._http, self._http.get(f"/api/jobs/{quote(job_id, safe='')}")["id"])

    def conditions(self) -> list[dict[str, Any]]:
        """All that can be watched for, with parameters, ranges and texts (`ConditionView` in the web API)."""
        return list(self._http.get("/api/conditions")["conditions"])

    def wait_for_job(self, timeout: float | None = 60) -> Job:
        """The last job that came, once it can be debugged: it is paused, or has made a step already.

        A job that has ended doesn't count. Raises Timeout after `timeout` seconds (None: never).
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            live = [each for each in self._http.get("/api/jobs")["jobs"] if each["connected"]]
            for each in reversed(live):
                if each["state"] == "paused" or each["step"] > 0:
                    return Job(self._http, each["id"])
            if deadline is not None and time.monotonic() >= deadline:
                names = ", ".join(each["title"] for each in live)
                what = f"{names} is connected, but has not come to its first stop" if live else "no training connected"
                raise Timeout(f"{what} within {timeout:g} s")
            time.sleep(_POLL_SECONDS)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Debugger:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<stepscope.Debugger {self.url}>"
