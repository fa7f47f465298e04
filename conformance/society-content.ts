/**
 * Random societies whose members write, share, narrow, judge, suspend and fail: what each request to the model holds, and
 * what inboxes, resources and reads answer, is compared with an oracle, word by word.
 *
 *   npx tsx --conditions=@reprise/source conformance/society-content.ts [--worlds 300] [--seed N]
 *
 * The long form has 10,000 worlds.
 */
import { parseArgs } from 'node:util';
import { judgeContent } from './society/content/judge.js';

const { values: options } = parseArgs({
  options: { worlds: { type: 'string', default: '300' }, seed: { type: 'string', default: '36' } },
});
const asked = Number(options.worlds);
const found = await judgeContent(asked, Number(options.seed));
for (const line of found.first === undefined ? [] : [found.first]) console.error(line);
const { requests, answers, shown, withheld } = found;
console.log(
  `${requests} requests to the model, ${answers} answers; ${shown} words shown, ${withheld} not; seed ${options.seed}`,
);
console.log(`${found.worlds} worlds, ${found.disagreements} disagreements`);
process.exitCode = found.disagreements === 0 && found.worlds === asked ? 0 : 1;
