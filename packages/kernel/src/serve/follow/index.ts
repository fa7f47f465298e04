export { FOLLOW_OPTIONS, type FollowOptions, followFrames, followHeads, type LookOptions } from './follow.js';
