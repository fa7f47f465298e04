/** A process that works on a machine, to be watched from outside. Arguments: the path, the driver, what is left out. */
import { writeSync } from 'node:fs';
import { carelessMachine, type Omission } from './careless-machine.js';
import { driverNamed } from './drivers.js';
import { work } from './sync-work.js';

const [, , path, name, omission] = process.argv as [string, string, string, string, Omission | undefined];
await work(carelessMachine(await driverNamed(name), omission), path, (what) => writeSync(1, `ack ${what}\n`));
