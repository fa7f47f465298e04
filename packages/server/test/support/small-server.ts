/** A server as a process with little memory: it prints where it listens, and what it took when its input ends. */
import { overHttp } from './stage.js';

const stage = await overHttp({ http: { limits: { requestMs: 3_600_000, connectionsEach: 128 } } });
const before = process.memoryUsage().rss;
let most = before;
const look = setInterval(() => {
  most = Math.max(most, process.memoryUsage().rss);
}, 20);
console.log(JSON.stringify({ url: stage.url, token: await stage.tokenOf('human:ann') }));
process.stdin.resume().on('end', () => {
  clearInterval(look);
  console.log(JSON.stringify({ mib: Math.round((most - before) / 2 ** 20), errors: stage.errors }));
  process.exit(0);
});
