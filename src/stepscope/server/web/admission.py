"""What a browser is shown that comes without the token: what to do, in its language, with a field for the token.

The page stands alone: no script and no file, which would need the token, too. Its form goes to `/?token=…`, the way of
the address that the server prints.
"""

from __future__ import annotations

from html import escape

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, Response

# For this page alone, which has nothing to tell: it may send its form here, and nothing else.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

_TEXTS = {
    "en": {
        "title": "A token is needed",
        "why": "This stepscope server shows its trainings only to those who have its token.",
        "address": "Open the address that the server printed when it started. It ends with",
        "stop": ".",
        "status": "The command <code>stepscope status</code> prints it again, on the machine of the server.",
        "paste": "Or paste the token here:",
        "label": "Token",
        "enter": "Open",
        "wrong": "That is not the token of this server.",
    },
    "zh": {
        "title": "需要令牌",
        "why": "此 stepscope 服务只对持有令牌的人显示训练。",
        "address": "请打开服务启动时打印的地址，其末尾为",
        "stop": "。",
        "status": "在服务所在的机器上运行 <code>stepscope status</code> 可再次打印该地址。",
        "paste": "或在此粘贴令牌：",
        "label": "令牌",
        "enter": "打开",
        "wrong": "这不是此服务的令牌。",
    },
}

_STYLE = """
:root { color-scheme: light dark; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: light-dark(#f6f8fa, #12161b);
  color: light-dark(#1c2430, #e6e8eb); font: 15px/1.6 system-ui, "Segoe UI", Roboto, "PingFang SC", "Microsoft YaHei",
  "Noto Sans CJK SC", "WenQuanYi Micro Hei", sans-serif; }
main { box-sizing: border-box; max-width: 34rem; margin: 1rem; padding: 1.5rem 2rem 2rem; border-radius: 8px;
  background: light-dark(#fff, #1b2027); border: 1px solid light-dark(#d5dbe1, #343c46); }
h1 { margin: 0 0 .5rem; font-size: 1.375rem; }
code { padding: 0 .3em; border-radius: 4px; background: light-dark(#eef1f4, #2b323b); overflow-wrap: anywhere; }
label { display: block; margin: 1.25rem 0 .4rem; }
form div { display: flex; gap: .5rem; }
input { flex: 1; min-width: 0; padding: .45rem .6rem; font: inherit; color: inherit; border-radius: 4px;
  background: light-dark(#fff, #12161b); border: 1px solid light-dark(#7b8794, #6b7683); }
button { padding: .45rem 1.1rem; font: inherit; font-weight: 600; color: #fff; background: #0b7285; border: 0;
  border-radius: 4px; cursor: pointer; }
:focus-visible { outline: 2px solid light-dark(#0a6478, #5fd0e3); outline-offset: 2px; }
[role=alert] { color: light-dark(#b42318, #ff8f85); font-weight: 600; }
"""

_PAGE = """<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} – stepscope</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
<p>{why}</p>
<p>{address} <code>/?token=…</code>{stop} {status}</p>
{alert}<form action="/" method="get">
<label for="token">{paste}</label>
<div><input id="token" name="token" type="password" required autofocus autocomplete="off" spellcheck="false"
 aria-label="{label}"><button>{enter}</button></div>
</form>
</main>
</body>
</html>
"""


def wants_page(headers: Headers) -> bool:
    """Whether the one who asks is a browser that shows what it gets."""
    return "text/html" in headers.get("accept", "")


def admission_page(headers: Headers, is_wrong: bool) -> Response:
    """`is_wrong`: a token was given that is not the right one."""
    language = _language(headers.get("accept-language", ""))
    text = _TEXTS[language]
    alert = f'<p role="alert">{escape(text["wrong"])}</p>\n' if is_wrong else ""
    body = _PAGE.format(lang="zh-CN" if language == "zh" else "en", style=_STYLE, alert=alert, **text)
    return HTMLResponse(body, 401, {"WWW-Authenticate": "Bearer", "Content-Security-Policy": CONTENT_SECURITY_POLICY})


def _language(accepted: str) -> str:
    """The first of the two that the browser wants."""
    for part in accepted.lower().split(","):
        name = part.strip()[:2]
        if name in _TEXTS:
            return name
    return "en"
