import { expect, it } from '@jest/globals';
import { atMost, linesOf } from '../src/mutation/changed-lines.ts';

const DIFF = `diff --git a/packages/core/src/a.ts b/packages/core/src/a.ts
--- a/packages/core/src/a.ts
+++ b/packages/core/src/a.ts
@@ -3 +3,2 @@ function a() {
-old
+new
+newer
@@ -9,2 +10,0 @@
-gone
-gone
diff --git a/packages/core/src/gone.ts b/packages/core/src/gone.ts
--- a/packages/core/src/gone.ts
+++ /dev/null
@@ -1 +0,0 @@
-gone
diff --git a/packages/core/src/b.ts b/packages/core/src/b.ts
--- /dev/null
+++ b/packages/core/src/b.ts
@@ -0,0 +1 @@
+@@ -1 +7 @@
`;

const A = { file: 'packages/core/src/a.ts', first: 3, last: 4 };
const B = { file: 'packages/core/src/b.ts', first: 1, last: 1 };

it('finds the lines that are new, and not those that went', () => {
  expect(linesOf(DIFF)).toEqual([A, B]);
});

it('takes the first ones, and no more lines than allowed', () => {
  expect(atMost(3, [A, B])).toEqual([A, B]);
  expect(atMost(2, [A, B])).toEqual([A]);
  expect(atMost(0, [A])).toEqual([]);
});
