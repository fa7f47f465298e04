/**
 * A process that appends frames and blobs, so many that they are packed, and kills itself while it packs. Arguments: the
 * path; a seed; at which step of packing it dies, 0 for never; the appends. After each append it prints what was
 * acknowledged: `<seq> <link> <link> …`.
 */
import { writeSync } from 'node:fs';
import { randomFrom } from '../../../../conformance/random.js';
import type { Connection, Driver } from '../../src/database/driver.js';
import { MACHINE } from '../../src/database/ports.js';
import { sqliteOn } from '../../src/store.js';
import { framesAfter } from '../frames.js';
import { packedFrame } from './packing-frames.js';

const [, , path, seed, strike, appends] = process.argv as [string, string, string, string, string, string];

/** The statements of packing, each a moment to die at. */
const STEPS = [
  'DELETE FROM frame',
  'INSERT INTO pack',
  'INSERT OR REPLACE INTO packed',
  'UPDATE erased',
  'DELETE FROM blob',
];

let [steps, packing] = [0, false];

/** One more step is done; before a commit and after it as well. */
function step(): void {
  if (++steps === Number(strike)) process.kill(process.pid, 'SIGKILL');
}

function struck(db: Connection): Connection {
  return {
    ...db,
    exec: (sql) => {
      const ends = packing && sql === 'COMMIT';
      if (ends) step();
      db.exec(sql);
      if (ends) {
        packing = false;
        step();
      }
    },
    prepare: (sql) => {
      const statement = db.prepare(sql);
      if (!STEPS.some((start) => sql.startsWith(start))) return statement;
      return {
        ...statement,
        run: (...params) => {
          packing = true;
          step();
          const changes = statement.run(...params);
          step();
          return changes;
        },
      };
    },
  };
}

const driver = async (): Promise<Driver> => {
  const real = await MACHINE.driver();
  return { ...real, open: (file, mode) => struck(real.open(file, mode)) };
};
const random = randomFrom(Number(seed));
const { journal, content, close } = await sqliteOn({ ...MACHINE, driver }, path).open();
let head = await journal.head();
for (let n = Number(appends); n > 0; n--) {
  const links: string[] = [];
  for (let blobs = Math.floor(random() * 6); blobs > 0; blobs--) {
    const bytes = new Uint8Array(Buffer.from(`${seed} ${head.seq} ${blobs} `.repeat(200 + random() * 600)));
    links.push((await content.put(bytes)).hex);
  }
  head = await journal.append(framesAfter(head, 1 + Math.floor(random() * 8), packedFrame), head);
  writeSync(1, `${[head.seq, ...links].join(' ')}\n`);
}
await close();
writeSync(1, `done ${steps}\n`);
