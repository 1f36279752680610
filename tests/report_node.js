// The pairs of a page as its own script reads them: node tests/report_node.js PAGE
const { readFileSync } = require("node:fs");
const vm = require("node:vm");
const page = readFileSync(process.argv[2], "utf8");
const texts = new Map([...page.matchAll(/<script type="[^"]*" id="([^"]*)">([^<]*)<\/script>/g)].map(m => [m[1], m[2]]));
const context = vm.createContext({
  meanings: {}, byId: id => ({ textContent: texts.get(id) }), shellWord: word => word, atob, Blob, Response, DecompressionStream, Uint8Array, Map, JSON,
});
const script = readFileSync(`${__dirname}/../viz/report/data.js`, "utf8");
vm.runInContext(`${script}\nthis.planeval = { head, index, detail };`, context);
(async () => {
  const { head, index, detail } = context.planeval;
  const found = await index(), pairs = [];
  for (let k = 0; k < found.id.length; k++) pairs.push(await detail(k));
  process.stdout.write(JSON.stringify({ head, index: found, pairs }));
})();
