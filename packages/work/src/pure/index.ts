/** What owners of cells share: the effects that they emit, and how they make cells with fewer rights. */
export * from './compose.js';
export * from './made.js';
