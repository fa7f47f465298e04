/** A program that holds a world and writes: messages to an agent, one after the other, until it is killed. */
import { greeterWorld } from '../worlds.js';

const [path = '', first = '0'] = process.argv.slice(2);
const { world, session } = await greeterWorld(path);
for (let n = Number(first); ; n++) {
  await session.send(`message ${n}`);
  process.stdout.write(`${n}\n`);
  await world.kernel.pump();
}
