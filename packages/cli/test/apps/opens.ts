/** A program that opens a world for writing and catches no error, as a beginner writes it. */
import { openKernelWorld } from '@reprise/kernel';
import { sqlite } from '@reprise/store-sqlite';
import app from './app.js';

const [path = ''] = process.argv.slice(2);
await openKernelWorld({ store: sqlite(path), app });
// It stays open until it is killed.
setInterval(() => undefined, 1_000);
process.stdout.write('open\n');
