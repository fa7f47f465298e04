export * from './all-rows.js';
export * from './app.js';
export { digestOf } from './digest.js';
export * from './effect.js';
export { appOnUse, effectOnUse, planOnUse, projectionOnUse, reducerOnUse } from './first-use.js';
export * from './handlers.js';
export {
  addressOf,
  type CellOf,
  cellAddress,
  cellName,
  type Forebear,
  type Migrates,
  planFor,
  type Replaced,
  reducerFor,
} from './lineage.js';
export { matchSender, type SenderFacts, type SenderRow } from './match-sender.js';
export * from './plan.js';
export * from './projection.js';
export * from './reducer.js';
export * from './send-rules.js';
export {
  type AboveForm,
  type AllFrom,
  by,
  type CellForm,
  type CellPlace,
  type From,
  from,
  fromAll,
  type KeyPart,
  type PlainForm,
  type RowForm,
  type RowPlace,
  type StateForm,
  type Who,
} from './senders.js';
export * from './sources.js';
export * from './table.js';
export * from './text-index.js';
