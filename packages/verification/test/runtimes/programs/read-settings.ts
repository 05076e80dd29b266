import process from 'node:process';
import type { Settings } from './receiver.ts';

/** The settings of a program that runs in a process, with the file of a SQLite store if it has one. */
export const readSettings = () =>
  JSON.parse(process.env['SETTINGS'] ?? '') as Settings & { file?: string };
