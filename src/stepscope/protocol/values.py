"""Types and constant values of the wire as plain Python: names of data types, TypeProto, ValueProto, TensorProto.

Data types have numpy's names where numpy has them ("float32"), else the usual ones ("bfloat16", "string", "tuple").
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stepscope.core.graph.records import TensorType
from stepscope.core.tensors.bfloat16 import decode_bfloat16
from stepscope.protocol.gen import stepscope_pb2 as pb

_NAMES: dict[int, str] = {
    number: name.removeprefix("DT_").lower().removeprefix("base_") for name, number in pb.DataType.items()
} | {pb.DT_UNDEFINED: ""}
_NO_VALUE = (pb.DT_UMONAD, pb.DT_IOMONAD, pb.DT_NONE)
_SINGLE = ("bool_val", "int_val", "uint_val", "float_val", "double_val", "str_val")
_MANY = ("bool_vals", "int_vals", "uint_vals", "float_vals", "double_vals", "str_vals")


def type_name(data_type: int) -> str:
    """ "float32" for DT_FLOAT32; "" for undefined; a number that is not known names itself."""
    return _NAMES.get(data_type, f"type{data_type}")


def output_types(output: pb.TypeProto) -> tuple[TensorType, ...]:
    """One type a slot; none for what is no value (monads).

    The wire leaves the shape of a tuple's elements out: it is None there. A tensor of its own without one is a scalar.
    """
    if output.HasField("sequence_type"):
        return tuple(_one_type(element, None) for element in output.sequence_type.elem_types)
    if output.data_type in _NO_VALUE or not output.ByteSize():
        return ()
    return (_one_type(output, ()),)


def _one_type(one: pb.TypeProto, without_shape: tuple[int, ...] | None) -> TensorType:
    if one.HasField("sequence_type"):
        return TensorType(type_name(one.data_type))
    if not one.HasField("tensor_type"):
        return TensorType(type_name(one.data_type), ())
    tensor = one.tensor_type
    shape = tuple(dim.size for dim in tensor.shape.dim) if tensor.HasField("shape") else without_shape
    return TensorType(type_name(tensor.elem_type), shape)


def value(content: pb.ValueProto) -> Any:
    """Scalars, str, tuple, list, dict, None; tensors as numpy arrays; types by name; a sub graph by its name.

    None also stands for what the wire leaves out, such as the contents of MindSpore's constant tensors.
    """
    kind = content.dtype
    if content.values or kind in (pb.DT_TUPLE, pb.DT_LIST):
        items = [value(item) for item in content.values]
        return items if kind == pb.DT_LIST else tuple(items)
    if content.dict_val or kind == pb.DT_DICT:
        return {item.key: value(item.value) for item in content.dict_val}
    for field in _SINGLE:
        if content.HasField(field):
            single = getattr(content, field)
            return _shortest(single) if field == "float_val" else single
    if content.HasField("tensor_val"):
        return array(content.tensor_val)
    if content.HasField("type_val"):
        return _type_text(content.type_val)
    if content.HasField("graph"):
        return content.graph.name
    for field in _MANY:
        if many := getattr(content, field):
            return tuple(map(_shortest, many)) if field == "float_vals" else tuple(many)
    if content.tensor_vals:
        return tuple(map(array, content.tensor_vals))
    if content.graphs:
        return tuple(graph.name for graph in content.graphs)
    return () if _NAMES.get(kind, "").endswith("s") else None


def value_type(content: pb.ValueProto) -> TensorType:
    """The type of a constant, as far as its value tells."""
    if content.HasField("tensor_val"):
        tensor = content.tensor_val
        return TensorType(type_name(tensor.data_type), tuple(tensor.dims))
    is_scalar = any(content.HasField(field) for field in _SINGLE)
    return TensorType(type_name(content.dtype), () if is_scalar else None)


def array(tensor: pb.TensorProto) -> np.ndarray[Any, Any] | None:
    """The tensor as an array (bfloat16 as float32); None where its bytes don't make one."""
    if tensor.data_type == pb.DT_BFLOAT16:
        dtype = np.dtype("<u2")
    else:
        try:
            dtype = np.dtype(type_name(tensor.data_type)).newbyteorder("<")
        except TypeError:
            return None
    shape = tuple(tensor.dims)
    if min(shape, default=0) < 0 or len(tensor.tensor_content) != dtype.itemsize * int(np.prod(shape, dtype=np.int64)):
        return None
    flat = np.frombuffer(tensor.tensor_content, dtype).reshape(shape)
    return decode_bfloat16(flat) if tensor.data_type == pb.DT_BFLOAT16 else flat


def _shortest(number: float) -> float:
    """A float32 on the wire is meant as the shortest number that stands for it: 0.1, not 0.10000000149011612."""
    return float(str(np.float32(number)))


def _type_text(one: pb.TypeProto) -> str:
    if one.HasField("tensor_type"):
        return f"tensor[{type_name(one.tensor_type.elem_type)}]"
    return type_name(one.data_type)
