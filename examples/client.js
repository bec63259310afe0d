// A client of KataGo's analysis protocol in 15 lines: node examples/client.js, in the folder that .venv is in.
const engine = require("child_process").spawn(".venv/bin/jaxgo", ["analysis"], { stdio: ["pipe", "pipe", "inherit"] });
const game = { moves: [["B", "E5"], ["W", "C3"], ["B", "G4"]], rules: "chinese", komi: 7.5, boardXSize: 9, boardYSize: 9 };
const query = { id: "game", ...game, analyzeTurns: [0, 1, 2, 3], maxVisits: 5000, includeOwnership: true };
const texts = []; // by turn, as replies come in any order
let printed = 0;
require("readline").createInterface({ input: engine.stdout }).on("line", (line) => {
  const reply = JSON.parse(line);
  if (reply.error || reply.warning) return console.log(reply.error || reply.warning);
  const best = reply.moveInfos.slice(0, 3).map((info) => `${info.move} ${(100 * info.winrate).toFixed(1)} %`);
  texts[reply.turnNumber] = `after ${reply.turnNumber} moves Black leads by ${reply.rootInfo.scoreLead.toFixed(1)}: ${best.join(", ")}`;
  while (texts[printed]) console.log(texts[printed++]);
});
engine.on("close", (status) => console.log(`done, status ${status}`));
engine.stdin.end(JSON.stringify(query) + "\n");
