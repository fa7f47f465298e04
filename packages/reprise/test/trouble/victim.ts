/**
 * A process that works at a stage until its disk is used for the n-th time, and dies there as by `kill -9`:
 * `victim.ts STAGE FILE N`. It prints what it was told. Where the work ends before, it ends by itself.
 */
import { sqlite } from '@reprise/store-sqlite';
import { FailingDisk } from './disk.js';
import { STAGES } from './stages.js';

const [, , stage = '', file = '', place = ''] = process.argv;
const disk = new FailingDisk(sqlite(file));
const open = STAGES[stage];
if (open === undefined) throw new TypeError(`no stage ${stage}`);
const { world, work } = await open({ store: disk, model: (inner) => inner, withoutTools: false });
disk.arm('killed', Number(place));
console.log(await work());
await world.close();
