/** What waits for people in a world, and what is at work. */
export {
  type Unfinished,
  type WaitingItem,
  type WaitingReport,
  waitingReport,
} from './items.js';
export { type PendingInOptions, pendingIn } from './pending.js';
