/**
 * Thrown when an expression reads an absent cell. A singleton, because creating an error costs more than evaluating
 * most expressions. The language's `||` and `&&` ignore an error on one side if the other side determines the result,
 * so this gives exactly SQL's three-valued logic.
 */
class NullTouched extends Error {
  override name = 'NullTouched';
}

export const nullTouched = new NullTouched('a null was read');
