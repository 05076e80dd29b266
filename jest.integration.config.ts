/**
 * `npm run test:integration`. Loaded as jest.config.ts is.
 * @jest-config-loader-options {"transpileOnly": true, "compilerOptions": {"module": "commonjs", "target": "es2022"}}
 */
import type { Config } from 'jest';
import unitTests from './jest.config.ts';

const config: Config = {
  ...unitTests,
  testMatch: ['**/test/**/*.integration.test.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
};

export default config;
