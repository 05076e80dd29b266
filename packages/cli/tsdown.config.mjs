import license from 'rollup-plugin-license';
import { defineConfig } from 'tsdown';

// One file for `--help` and `--version`, and one for each command, which is loaded when it is used. The
// small libraries that every command needs are in them: as modules of their own they take as long to load
// as Node to start. The SDK of `mcp` is in it too: nobody else needs it.
export default defineConfig({
  entry: { bin: 'src/bin.ts' },
  format: 'esm',
  outDir: 'dist/bundle',
  platform: 'node',
  fixedExtension: false,
  target: 'node20',
  deps: {
    alwaysBundle: [
      'commander',
      'fast-string-width',
      'fast-string-truncated-width',
      'leven',
      /^@modelcontextprotocol\//,
    ],
  },
  dts: false,
  plugins: [license({ thirdParty: { output: 'dist/bundle/third-party-licenses.txt' } })],
});
