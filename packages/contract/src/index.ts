export { createVectors, type VectorOptions } from './create-vectors.ts';
export {
  VECTORS_VERSION,
  type Expectation,
  type Sentence,
  type Vector,
  type VectorDelivery,
  type VectorFile,
  type VectorResult,
} from './vector.ts';
