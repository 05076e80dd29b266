// For the packages of this repository, which are released together: it may change in any version.
export { lockFile } from './files/lock-file.ts';
