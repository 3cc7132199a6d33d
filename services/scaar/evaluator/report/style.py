"""The style of pages and figures, light or dark as the reader's system prefers.

The colours of series are those of Okabe and Ito (2008), which people with any kind of colour
vision can distinguish, darkened or lightened to a contrast of at least 3 to 1 with the background
(WCAG 2.1, 1.4.11).
"""

LIGHT = ("#0068a3", "#c65500", "#008262", "#a64d86", "#9c6a00", "#2b7bb0", "#5b6168", "#7a4a2b")
DARK = ("#4fb3ea", "#f08a4b", "#2fc49b", "#e296c4", "#e6ab2e", "#9ecbf5", "#b3bac2", "#d6a483")
LIGHT_PAGE, DARK_PAGE = "#ffffff", "#14181d"

_DAY = {
    "page": LIGHT_PAGE,
    "ink": "#1c2126",
    "faint": "#59626b",
    "rule": "#d5dae0",
    "band": "#f4f6f8",
}
_NIGHT = {
    "page": DARK_PAGE,
    "ink": "#e6eaee",
    "faint": "#a3adb7",
    "rule": "#39424b",
    "band": "#1c2229",
}


def _variables(named: dict[str, str], colours: tuple[str, ...]) -> str:
    series = {f"s{at}": colour for at, colour in enumerate(colours)}
    return "".join(f"--{name}:{value};" for name, value in (named | series).items())


_THEMES = (
    f":root{{color-scheme:light dark;{_variables(_DAY, LIGHT)}}}\n"
    f"@media screen and (prefers-color-scheme:dark){{:root{{{_variables(_NIGHT, DARK)}}}}}\n"
)
_FIGURES = """\
svg text{font:13px system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:var(--ink)}
svg .t{font-size:14px;font-weight:600}
svg .g{stroke:var(--rule);stroke-width:1;fill:none}
svg .l{stroke:currentColor;stroke-width:2;fill:none}
svg .i{stroke:currentColor;stroke-width:1.2;stroke-opacity:.45;fill:none}
svg .m{fill:currentColor;stroke:var(--page);stroke-width:1}
svg .o{fill:var(--page);stroke:currentColor;stroke-width:1.6}
svg .b{fill:var(--faint)}
"""
_SERIES = "".join(f"svg .s{at}{{color:var(--s{at})}}\n" for at in range(len(LIGHT)))

FIGURE_STYLE = _THEMES + _FIGURES + _SERIES
"""The style sheet of a standalone figure."""

PAGE_STYLE = (
    FIGURE_STYLE
    + """\
body{margin:0;background:var(--page);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif}
main{max-width:88rem;margin:0 auto;padding:1.5rem 1.25rem 4rem}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .25rem}
h2{font-size:1.35rem;margin:2.5rem 0 .25rem;padding-top:1rem;border-top:2px solid var(--rule)}
h3,figcaption{font-size:1rem;font-weight:600;line-height:1.35;margin:1.25rem 0 .4rem}
p{margin:.6rem 0}
p,h3,figcaption,.open,.prose,details{overflow-wrap:break-word}
a{color:var(--s0)}
code{font-size:.9em}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;padding:0;margin:1.25rem 0 0;list-style:none}
.faint,.note,.ci,.why{color:var(--faint)}
.warning{border-left:4px solid var(--s1);padding:.4rem .9rem;background:var(--band)}
.verdict{margin:1.25rem 0;padding:1rem 1.25rem;background:var(--band);border-radius:.5rem}
.verdict .warning{padding:0 0 0 .75rem;margin:.9rem 0 0}
.headline{font-size:1.2rem;line-height:1.45;margin:0 0 .9rem}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:1rem;margin:0}
dt{font-size:.85rem;color:var(--faint)}
dd{margin:0;font-size:1.5rem;font-weight:600;line-height:1.25;overflow-wrap:anywhere;
font-variant-numeric:tabular-nums}
dd.ci{font-size:.85rem;font-weight:400;margin-top:.15rem}
.grid{display:grid;grid-template-columns:minmax(0,1fr);gap:0 2.5rem}
.scroll{overflow-x:auto;margin:0 0 .25rem}
table{border-collapse:separate;border-spacing:0;width:100%;font-size:.9rem;
font-variant-numeric:tabular-nums}
th,td{padding:.35rem .8rem .35rem 0;text-align:left;vertical-align:top;font-weight:400;
border-bottom:1px solid var(--rule);background:var(--page)}
thead th{font-weight:600;vertical-align:bottom;border-bottom:2px solid var(--faint)}
th:first-child{position:sticky;left:0;z-index:1;max-width:16rem}
.n{text-align:right;padding-left:.5rem}
td.n{white-space:nowrap}
.ci,.why{display:block;font-size:.8rem}
.note{font-size:.9rem;margin-top:.25rem;max-width:60rem}
.best{font-weight:700}
.best::before{content:"\\2605\\2009";color:var(--s4);font-size:.85em}
td a{text-decoration-color:var(--rule);text-underline-offset:.2em}
figure{margin:0;max-width:46rem}
figure svg{display:block;width:100%;height:auto}
.phone{display:none}
details{font-size:.9rem;color:var(--faint);margin-top:.4rem}
.listing{border-bottom:1px solid var(--rule);padding:.45rem 0}
.listing:not(:target) .rows,.listing:target .open{display:none}
.listing h3{margin-top:.4rem}
@media (min-width:68rem){
.grid{grid-template-columns:repeat(2,minmax(0,1fr))}
.wide{grid-column:1/-1}
.prose{columns:2;column-gap:2.5rem}
.prose p{break-inside:avoid;margin:0;padding:.3rem 0}
.prose .warning{padding:.4rem .9rem}
.wide>figure{margin:0 auto}
}
@media screen and (max-width:40rem){
.desktop{display:none}
.phone{display:block}
h1{font-size:1.6rem}
main{padding-top:1rem}
.verdict{margin:.9rem -.5rem;padding:.8rem .9rem}
.headline{font-size:1.05rem}
dl{grid-template-columns:1fr 1fr;gap:.75rem}
dd{font-size:1.2rem}
table{font-size:.85rem}
th,td{padding-right:.6rem}
th:first-child{width:6.6rem;min-width:6.6rem;max-width:6.6rem;overflow-wrap:anywhere}
td:not(.n){min-width:11rem;overflow-wrap:anywhere}
.pin{position:sticky;left:7.2rem;z-index:1;border-right:1px solid var(--rule)}
td.pin{min-width:0}
.ci,.why{font-size:.75rem}
}
@media print{
main{max-width:none;padding:0}
nav{display:none}
.scroll{overflow:visible}
table{font-size:.72rem}
th,td{padding-right:.5rem}
tr,figure{break-inside:avoid}
h2,h3{break-after:avoid}
}
"""
)
