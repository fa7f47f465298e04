/** What the fuzzer must see: a process like `judge.ts` that believes what a file says of its tables and its columns. */
import { createInterface } from 'node:readline';
import { sqliteDriver } from '../../src/database/driver.js';

const driver = await sqliteDriver();
for await (const file of createInterface({ input: process.stdin })) {
  let read = 'refused journal_damaged';
  try {
    const db = driver.open(file, 'read');
    const bytes = db
      .prepare('SELECT head, bytes FROM frame ORDER BY seq DESC')
      .all()
      .map(([, frame]) => frame);
    const head = db.prepare('SELECT head FROM frame ORDER BY seq DESC LIMIT 1').get()?.[0] as Uint8Array;
    read = `ok ${Buffer.from(head).toString('hex')}${bytes.length < 0 ? '!' : ''}`;
    db.close();
  } catch (error) {
    if (error instanceof TypeError) read = `broke ${error.message}`;
  }
  console.log(JSON.stringify({ read, written: read, rss: process.memoryUsage().rss }));
}
