/**
 * Thrown when an expression reads a null cell. The error is created only once, because creating it costs more than
 * evaluating most expressions. The language's `||` and `&&` ignore an error on one side if the other side determines
 * the result, so this produces exactly the three-valued logic of SQL.
 */
class NullTouched extends Error {
  override name = 'NullTouched';
}

export const nullTouched = new NullTouched('a null was read');
