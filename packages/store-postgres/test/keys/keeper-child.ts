/** Keeps 300 keys in a folder and prints them: `keeper-child.mjs FOLDER`. */
import { fileKeys } from '../../src/index.js';

const keys = fileKeys(process.argv[2] ?? '');
for (let i = 0; i < 300; i++) {
  const [key = new Uint8Array()] = await keys.keep([`k${i}`]);
  process.stdout.write(`${Buffer.from(key).toString('hex')}\n`);
}
