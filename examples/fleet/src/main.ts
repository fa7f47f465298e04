/**
 * Two processes serve the same shops, customers order at any of them, one process is killed and the other one is replaced:
 * `npm run fleet`. In the end the books of the bank and the journals are compared with what customers were told.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openKernelWorld } from 'reprise/kernel';
import { postgres } from 'reprise/postgres';
import { print, printError } from 'reprise/terminal';
import { openBank } from './bank.js';
import { openDatabase } from './database.js';
import { app, bankAdapter, SHOP } from './shop.js';

const SHOPS = ['antwerp', 'bergen', 'cork', 'delft', 'evora', 'fez'];
/** How long customers order, in milliseconds. */
const OPEN_MS = 12_000;
/** What the processes sign their requests with. */
const FLEET_SECRET = randomBytes(32).toString('hex');

interface Member {
  readonly name: string;
  readonly child: ChildProcess;
  readonly address: string;
}

const database = await openDatabase();
if (database === undefined) {
  printError(
    'No PostgreSQL is installed here. Install one (Debian: apt-get install postgresql), or name one: DATABASE_URL.',
  );
  process.exit(1);
}
process.once('SIGINT', () => process.exit(130));
const run = Date.now().toString(36);
const bank = await openBank();
const started = performance.now();
const say = (text: string): void =>
  print(`${((performance.now() - started) / 1_000).toFixed(1).padStart(5)} s  ${text}`);
const members = new Map<string, Member>();
process.once('exit', () => {
  for (const { child } of members.values()) child.kill('SIGKILL');
});

async function start(name: string): Promise<void> {
  const program = fileURLToPath(new URL('process.ts', import.meta.url));
  const child = spawn(process.execPath, [...process.execArgv, program, database?.url ?? '', bank.url], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, FLEET_SECRET },
  });
  const died = once(child, 'exit').then(() => undefined); // what it died of, it has printed itself
  const line = await Promise.race([once(createInterface({ input: child.stdout }), 'line'), died]);
  if (line === undefined) process.exit(1);
  const address = String(line[0]);
  members.set(name, { name, child, address });
  child.once('exit', () => members.delete(name));
  say(`process ${name} (${child.pid}) serves ${SHOPS.length} shops`);
}

/** The orders that a customer was told are accepted, and the longest that any of them had to wait. */
const accepted = new Map<string, string[]>();
let [tries, longestMs, ordering] = [0, 0, true];

function waited(): string {
  const longest = longestMs.toFixed(0);
  longestMs = 0;
  return `${longest} ms`;
}

/** A customer orders one thing after the other, at either process, and asks the other one when one has no answer. */
async function customer(shop: string): Promise<void> {
  const told: string[] = [];
  accepted.set(shop, told);
  for (let n = 1; ordering; n++) {
    const order = `${run}-${shop}-${n}`;
    for (const begun = performance.now(); ; ) {
      const open = [...members.values()];
      const member = open[(n + tries) % Math.max(1, open.length)]; // whichever: the fleet knows where the shop is
      const answer =
        member &&
        (await fetch(`${member.address}/${run}-${shop}`, { method: 'POST', body: order }).catch(() => undefined));
      if (answer?.ok === true) {
        longestMs = Math.max(longestMs, performance.now() - begun);
        told.push(order);
        break;
      }
      tries++;
      await pause(20);
    }
  }
}

say(`${database.said}; a bank; customers`);
await Promise.all([start('a'), start('b')]);
const customers = SHOPS.map(customer);
await pause(OPEN_MS / 4);
say(`both are well: the longest wait was ${waited()}`);
members.get('a')?.child.kill('SIGKILL');
say('process a is killed (kill -9) in the middle of its work');
await pause(OPEN_MS / 4);
say(`process b has its shops now: the longest wait was ${waited()}`);
await start('a');
await pause(OPEN_MS / 4);
const b = members.get('b')?.child;
members.delete('b'); // a load balancer sends nobody there any more
longestMs = 0;
b?.kill('SIGTERM');
if (b !== undefined) await once(b, 'exit');
say('process b was told to end (SIGTERM), and has ended');
await pause(OPEN_MS / 4);
say(`process a has all shops: the longest wait was ${waited()}`);
ordering = false;
await Promise.all(customers);
say('customers go home; the fleet ends');
for (const { child } of members.values()) {
  child.kill('SIGTERM');
  await once(child, 'exit');
}

const worlds = postgres(database.url);
let [orders, lost, unpaid] = [0, 0, 0];
for (const shop of SHOPS) {
  const world = await openKernelWorld({
    store: worlds.world(`${run}-${shop}`),
    app,
    adapters: [bankAdapter(bank.url)],
  });
  await world.pump(); // what was under way at the end
  await world.verify();
  const { ordered, paid } = (await world.state(SHOP)) as { readonly ordered: number; readonly paid: number };
  const told = accepted.get(shop) ?? [];
  orders += told.length;
  lost += Math.max(0, told.length - ordered);
  unpaid += ordered - paid;
  await world.close();
}
await worlds.close();
const { keysOf, repeated } = bank.books();
const charged = [...keysOf.values()];
const twice = charged.filter((keys) => keys.size > 1).length;
const forgotten = [...accepted.values()].flat().filter((order) => !keysOf.has(order)).length;
print('');
print(`${orders} orders were accepted, ${charged.length} were charged; ${SHOPS.length} journals were verified`);
print(`lost ${lost + forgotten}, twice ${twice}, unpaid ${unpaid}`);
print(
  `The bank recognized ${repeated} calls that were repeated after the crash. Customers asked again ${tries} times.`,
);
bank.close();
await database.close();
process.exitCode = lost + forgotten + twice + unpaid === 0 ? 0 : 1;
