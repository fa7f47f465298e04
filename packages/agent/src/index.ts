export * from './bound-output.js';
export * from './tool.js';
export * from './tool-adapter.js';
export * from './transcript.js';
