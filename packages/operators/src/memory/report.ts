/** The shape of what `reprise memory --json` prints. */
import * as z from '@reprise/contracts/schema';
import { owner } from '../names/owner.js';
import { entityName, framePlace, verdictShape } from '../verdicts/index.js';

const count = z.int().min(0);

/** A cell that wrote an item, or that it was taken over from. */
const writer = z.strictObject({
  /** The address of the cell; `people` for a write from outside. */
  cell: z.string(),
  /** Its name, where it has one. */
  name: z.nullable(z.string()),
});

/** The act that wrote an item. */
const memoryWrite = z.strictObject({
  /** Of a call of a model: whose session it is. */
  of: z.nullable(owner),
  /** The run and the step of that call, where its frame says so. */
  run: z.nullable(count),
  step: z.nullable(count),
  /** The place of its record, `99.4`: that of the call, or of a request from outside. */
  place: z.string(),
  /** Of a request from outside: who acted, in words. */
  by: z.nullable(z.string()),
});

/** The act that wrote an item. */
export type MemoryWrite = z.infer<typeof memoryWrite>;

/** A step from an item towards the words that it comes from. */
const memoryStep = z.strictObject({
  /** `message`, `result`, `task`, `narrative`, `job` or `node`, with its number in the organization. */
  kind: z.string(),
  id: count,
  title: z.string(),
  /** The frame that stated it; null when no frame of this file did, as of what a fork inherits. */
  frame: z.nullable(count),
  /** Its first words, where it has any of its own. */
  words: z.nullable(z.string()),
});

/** A step from an item towards the words that it comes from. */
export type MemoryStep = z.infer<typeof memoryStep>;

/** A verdict on an item. */
const memoryVerdict = z.strictObject({
  ...verdictShape,
  observer: entityName,
  /** Whether it is the last verdict of its observer on the item, and was not retracted. */
  stands: z.boolean(),
});

/** A verdict on an item. */
export type MemoryVerdict = z.infer<typeof memoryVerdict>;

/** An item of a memory. */
const memoryRow = z.strictObject({
  /** Its name, which commands take: `group:research#7`. */
  item: z.string(),
  store: z.string(),
  /** The name of the person or agent whose store it is; null for every other store. */
  store_of: z.nullable(z.string()),
  id: z.int().min(1),
  type: z.string(),
  /** Its first words; null when they are gone. */
  words: z.nullable(z.string()),
  /** All of its words, where one item was asked for; null otherwise. */
  text: z.nullable(z.string()),
  /** Why its words cannot be read now, at whichever frame is asked for; null when they can. */
  gone: z.nullable(z.enum(['erased', 'missing'])),
  /** The frame that erased its words, up to the frame of the report. */
  erased: z.nullable(framePlace),
  /** Whose item it is: the cell that wrote it, or of one that was taken over without a review, the one that brought it. */
  author: writer,
  /** Of an item that was taken over from an agent: from whom. Of one that nobody reviewed, who took it over. */
  taken_over: z.nullable(z.strictObject({ from: writer, by: writer, reviewed: z.boolean() })),
  /** The item that it is a copy of. */
  copy_of: z.nullable(z.string()),
  /** When it was written, in milliseconds since 1970. */
  at: count,
  /** The frame that wrote it; null when no frame of this file did, as of what a fork inherits. */
  frame: z.nullable(count),
  /** The act that wrote it; null where its frame does not say. */
  act: z.nullable(memoryWrite),
  /** Of an item that the lead of a swarm wrote while no task of the swarm had an answer: the swarm, and its tasks then. */
  before_answers: z.nullable(z.strictObject({ swarm: z.string(), tasks: count })),
  /** Where it comes from, the nearest first: at most 32 places. */
  from: z.array(memoryStep),
  /** `live`, `quarantined`, `archived` or `superseded`. */
  state: z.string(),
  /** The last change of its words or its state after it was written. */
  changed: z.nullable(framePlace),
  /** The item that took its place. */
  replaced_by: z.nullable(z.string()),
  revision: count,
  score: z.int(),
  uses: count,
  expires_at: z.nullable(count),
  /** In the order of frames. */
  verdicts: z.array(memoryVerdict),
});

/** An item of a memory. */
export type MemoryRow = z.infer<typeof memoryRow>;

/** The answer of `memoryOf`: what agents keep. */
export const memoryReport = z.strictObject({
  frame: z.int(),
  /** How many stores there are, or 1 where one was named. */
  stores: count,
  /** By store, and in a store by number. */
  rows: z.array(memoryRow),
  /** The cursor of the next page of rows; null on the last one. */
  next: z.nullable(z.string()),
});

/** The answer of `memoryOf`: what agents keep. */
export type MemoryReport = z.infer<typeof memoryReport>;
