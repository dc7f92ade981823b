/**
 * The style sheet of the API page. Light or dark mode follows the system's preference. The style sheet uses no web
 * fonts and no images.
 */
export const style = `
:root{color-scheme:light dark;--line:#d8dee4;--soft:#f6f8fa;--dim:#57606a;--text:#1f2328;--back:#fff;--link:#0757ba}
@media(prefers-color-scheme:dark){:root{--line:#30363d;--soft:#161b22;--dim:#9198a1;--text:#e6edf3;--back:#0d1117;--link:#6cb0ff}}
*{box-sizing:border-box}
body{margin:0;font:15px/1.5 system-ui,sans-serif;color:var(--text);background:var(--back)}
header{position:sticky;top:0;z-index:1;padding:14px 24px;background:var(--back);border-bottom:1px solid var(--line)}
h1{margin:0;font-size:20px}h2{margin:28px 0 0;font-size:18px}h4{margin:14px 0 4px;font-size:13px;color:var(--dim)}
p{margin:4px 0 10px;color:var(--dim)}a{color:var(--link)}
input{width:100%;max-width:560px;padding:7px 10px;font:inherit;color:inherit;background:var(--soft);border:1px solid var(--line);border-radius:6px}
.columns{display:flex;align-items:flex-start}
nav{position:sticky;top:126px;flex:0 0 245px;padding:20px 0 20px 24px;max-height:calc(100vh - 126px);overflow:auto}
nav a{display:flex;justify-content:space-between;gap:10px;padding:3px 8px;color:var(--text);text-decoration:none;border-radius:5px}
nav a:hover{background:var(--soft)}nav b{font-weight:400;color:var(--dim)}
main{flex:1;min-width:0;padding:0 24px 60px}section,details{scroll-margin-top:126px}
details{margin:8px 0;border:1px solid var(--line);border-radius:6px;padding:0 12px}
details[open]{padding-bottom:12px}
summary{display:flex;flex-wrap:wrap;gap:10px;align-items:baseline;padding:7px 0;cursor:pointer;list-style:none}
summary::-webkit-details-marker{display:none}
.method{flex:0 0 62px;text-align:center;font:600 12px/20px ui-monospace,monospace;color:#fff;border-radius:4px}
.get{background:#1a6b37}.post{background:#0757ba}.put{background:#8a5a00}.delete{background:#a4161d}
.path{font-weight:600}.what{color:var(--dim)}.needs{margin:0}
code,pre{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,monospace}
pre{margin:0;padding:9px 12px;overflow:auto;background:var(--soft);border-radius:6px}
table{width:100%;border-collapse:collapse;font-size:14px}
td{padding:4px 10px 4px 0;vertical-align:top;border-top:1px solid var(--line);overflow-wrap:anywhere}
td:nth-child(1){width:30%}td:nth-child(2){width:26%;color:var(--dim)}em{color:#b3541e;font-style:normal}
@media(max-width:760px){nav{display:none}main{padding:0 12px 40px}}
`;

/**
 * The script of the API page. It hides the endpoints that don't match all words of the filter, and opens the endpoint
 * that the URL names.
 */
export const script = `
const filter = document.getElementById('filter');
filter.addEventListener('input', () => {
  const words = filter.value.toLowerCase().split(/\\s+/).filter(Boolean);
  for (const section of document.querySelectorAll('section')) {
    let shown = 0;
    for (const one of section.querySelectorAll('details')) {
      one.hidden = !words.every((word) => one.dataset.words.includes(word));
      if (!one.hidden) shown++;
    }
    section.hidden = shown === 0;
  }
});
const open = () => {
  const named = document.getElementById(location.hash.slice(1));
  if (named instanceof HTMLDetailsElement) named.open = true;
};
addEventListener('hashchange', open);
open();
`;
