export { type MapChange, type MapRoot, MerkleMap, type NodeStore } from './merkle-map.js';
