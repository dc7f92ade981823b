/**
 * The style sheet for all pages, in light and dark. Color is never the only cue: each state also has a symbol and a
 * label. Pages work offline, because they don't load any fonts, images or scripts.
 */
export const style = `
:root { color-scheme: light dark; --ground: #fbfbf9; --card: #fff; --ink: #1d2126; --soft: #5b636d; --line: #dfe2e0;
  --good: #1f7a3d; --wait: #8a5a00; --bad: #b3261e; --bad-ground: #fdf0ee; --link: #0b57a4; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171a; --card: #1b1f23; --ink: #e6e8ea; --soft: #9aa3ad;
  --line: #30363c; --good: #6fcf8e; --wait: #e3b565; --bad: #ff8a80; --bad-ground: #2c1b1b; --link: #86b9f0; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1rem 1.25rem 4rem; background: var(--ground); color: var(--ink);
  font: 1rem/1.5 system-ui, sans-serif; }
a { color: var(--link); } a:focus-visible, input:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
header { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; justify-content: space-between; color: var(--soft); }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 1rem 0 .5rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { margin: .25rem 0; } .soft { color: var(--soft); }
.good { color: var(--good); } .wait { color: var(--wait); } .bad { color: var(--bad); } .idle { color: var(--soft); }
.state { font-weight: 600; } .at { color: var(--soft); white-space: nowrap; font-size: .9em; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem; margin: .6rem 0; }
.card.bad { color: inherit; background: var(--bad-ground); border-left: .3rem solid var(--bad); }
.card h3 { font-size: 1rem; margin: 0; }
code { font: .92em/1.5 ui-monospace, monospace; background: var(--ground); border: 1px solid var(--line); border-radius: .25rem;
  padding: .1rem .35rem; user-select: all; overflow-wrap: anywhere; }
.wide { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
table { border-collapse: collapse; width: 100%; } th { text-align: left; font-weight: 600; color: var(--soft); white-space: nowrap; }
th, td { padding: .45rem .75rem; border-bottom: 1px solid var(--line); vertical-align: top; }
tr:last-child td { border-bottom: 0; } td.number { text-align: right; } td { font-variant-numeric: tabular-nums; }
td.time, td.number, td.name { white-space: nowrap; } td.words { min-width: 14rem; overflow-wrap: anywhere; }
meter { width: 100%; height: .9rem; } dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1rem; margin: .5rem 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; } ol.chain { margin: 0; padding-left: 1.2rem; }
form { margin: .5rem 0; }
input { font: inherit; padding: .3rem .6rem; border: 1px solid var(--line); border-radius: .3rem; background: var(--card); color: inherit; }
@media (max-width: 40rem) { .later, td .at { display: none; } th, td { padding: .4rem .5rem; } body { padding: .75rem; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } }
`;
