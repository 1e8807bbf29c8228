"""Types and constant values of the wire as plain Python and back: data types, TypeProto, ValueProto, TensorProto.

Data types have numpy's names where numpy has them ("float32"), else the usual ones ("bfloat16", "string", "tuple").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stepscope.core.graph.records import TensorType
from stepscope.core.tensors.bfloat16 import decode_bfloat16
from stepscope.protocol.gen import stepscope_pb2 as pb

_NAMES: dict[int, str] = {
    number: name.removeprefix("DT_").lower().removeprefix("base_") for name, number in pb.DataType.items()
} | {pb.DT_UNDEFINED: ""}
_NUMBERS: dict[str, Any] = {name: number for number, name in _NAMES.items()}
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


def types_to_proto(types: Sequence[TensorType]) -> pb.TypeProto:
    """What `output_types` reads them from; a type that the protocol has no number for has no name then."""
    if len(types) == 1 and types[0].shape is not None:
        return _one_type_to_proto(types[0])
    result = pb.TypeProto()
    if types:
        result.data_type = pb.DT_TUPLE
        result.sequence_type.elem_types.extend(map(_one_type_to_proto, types))
    return result


def _one_type_to_proto(one: TensorType) -> pb.TypeProto:
    result = pb.TypeProto(data_type=pb.DT_TENSOR)
    result.tensor_type.elem_type = _NUMBERS.get(one.dtype, pb.DT_UNDEFINED)
    if one.shape is not None:
        result.tensor_type.shape.dim.extend(pb.TensorShapeProto.Dimension(size=size) for size in one.shape)
        result.tensor_type.shape.SetInParent()
    return result


def value_to_proto(content: Any) -> pb.ValueProto:
    """What `value` reads it from; of what is no plain value, its text."""
    if content is None:
        return pb.ValueProto(dtype=pb.DT_NONE)
    if isinstance(content, bool):
        return pb.ValueProto(dtype=pb.DT_BOOL, bool_val=content)
    if isinstance(content, int) and -(2**63) <= content < 2**63:
        return pb.ValueProto(dtype=pb.DT_INT64, int_val=content)
    if isinstance(content, float):
        return pb.ValueProto(dtype=pb.DT_FLOAT64, double_val=content)
    if isinstance(content, (tuple, list)):
        kind = pb.DT_TUPLE if isinstance(content, tuple) else pb.DT_LIST
        return pb.ValueProto(dtype=kind, values=map(value_to_proto, content))
    if isinstance(content, Mapping):
        items = [pb.NamedValueProto(key=_clean(key), value=value_to_proto(one)) for key, one in content.items()]
        return pb.ValueProto(dtype=pb.DT_DICT, dict_val=items)
    if isinstance(content, np.ndarray) and content.dtype.name in _NUMBERS:
        little = content.astype(content.dtype.newbyteorder("<"), copy=False)
        tensor = pb.TensorProto(data_type=_NUMBERS[content.dtype.name], dims=content.shape)
        tensor.tensor_content = little.tobytes()
        return pb.ValueProto(dtype=pb.DT_TENSOR, tensor_val=tensor)
    return pb.ValueProto(dtype=pb.DT_STRING, str_val=_clean(str(content)))


def _clean(text: Any) -> str:
    """Text that came from elsewhere may hold what is no text; protobuf refuses it."""
    return str(text).encode("utf-8", "replace").decode("utf-8")


def _shortest(number: float) -> float:
    """A float32 on the wire is meant as the shortest number that stands for it: 0.1, not 0.10000000149011612."""
    return float(str(np.float32(number)))


def _type_text(one: pb.TypeProto) -> str:
    if one.HasField("tensor_type"):
        return f"tensor[{type_name(one.tensor_type.elem_type)}]"
    return type_name(one.data_type)
