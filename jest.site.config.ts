/**
 * `npm run check:site`, after `npm run site`. Loaded as jest.config.ts is.
 * @jest-config-loader-options {"transpileOnly": true, "compilerOptions": {"module": "commonjs", "target": "es2022"}}
 */
import type { Config } from 'jest';
import unitTests from './jest.config.ts';

const config: Config = {
  ...unitTests,
  roots: ['<rootDir>/site'],
  testPathIgnorePatterns: ['/node_modules/'],
};

export default config;
