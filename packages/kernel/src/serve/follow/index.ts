export { FOLLOW_OPTIONS, type FollowFramesOptions, followFrames, followHeads, type LookOptions } from './follow.js';
