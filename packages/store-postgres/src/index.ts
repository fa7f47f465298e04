export type { AdmitOptions, AdmitReport, LostWorld } from './admit.js';
export { type PostgresDatabase, type PostgresOptions, postedCallsOf, postgres, type SweepOptions } from './database.js';
export type { FleetDirectory, FleetHost, FleetRows } from './fleet-rows.js';
export { fileKeys } from './keys/file-keys.js';
export { memoryKeys } from './keys/memory-keys.js';
export type {
  FoundCall,
  PostedCall,
  PostedCalls,
  PostedKey,
  TakenCall,
  UnknownCall,
  WaitingWorld,
} from './posts/posted-calls.js';
export { type WitnessPlace, witnessFolder } from './witness/place.js';
export type { SweepReport } from './world/objects.js';
