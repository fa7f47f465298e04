import { simulate } from '@reprise/testkit';
import { SUBJECTS } from './simulator/subjects.js';
const t=performance.now();
const r = await simulate(SUBJECTS.find(s=>s.name===process.argv[2])!, {seeds: Number(process.argv[3]), shrink:false});
console.log(r.runs, r.frames, r.effects, r.failure?.why, (performance.now()-t)/r.runs);
