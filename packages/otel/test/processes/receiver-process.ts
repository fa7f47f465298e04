/** A collector as a process of its own: it prints its address, and ends with its standard input. */
import { Receiver } from '../support/receiver.js';

const receiver = await Receiver.listen();
console.log(receiver.url);
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
