import { type TObject, type TProperties, Type } from 'typebox';

/**
 * Declares an object that is one of the API's models. The OpenAPI document lists it under this name, so generated
 * clients have one type for it.
 */
export function defineModel<P extends TProperties>(name: string, properties: P, options: object = {}): TObject<P> {
  return Type.Object(properties, { ...options, 'x-model': name });
}
