/** A process that writes a world: it sends each line of its input as a message, and answers with a line. */
import { createInterface } from 'node:readline';
import { openCoder } from './worlds.js';

const [file = ''] = process.argv.slice(2);
const { say } = await openCoder({ file, answer: ({ last }) => ({ text: `You said ${last}` }) });
await say('Hello.');
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  await say(line);
  process.stdout.write('said\n');
}
