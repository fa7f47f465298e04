/** What the file of a world says without an app: the leaves of its newest snapshot, and the records behind it. */
export { skimFrame } from '../../ports/journal/frame.js';
export { type OpenEffect, OpenEffectsFold } from './open-effects.js';
export { type SnapshotCell, type SnapshotLeaves, snapshotBefore } from './snapshot.js';
export { type FollowedCell, StateFieldsFold } from './state-fields.js';
