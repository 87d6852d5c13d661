//! Shapes that many types share: number newtypes, open enumerations, flag words.

/// A newtype over an unsigned integer, with its named constants.
macro_rules! number {
    (
        $(#[$meta:meta])*
        $name:ident($int:ty) {
            $($(#[$const_meta:meta])* $const_name:ident = $value:expr;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $int);

        impl $name {
            $($(#[$const_meta])* pub const $const_name: Self = Self($value);)*
        }

        impl From<$int> for $name {
            fn from(number: $int) -> Self {
                Self(number)
            }
        }

        impl From<$name> for $int {
            fn from(number: $name) -> Self {
                number.0
            }
        }
    };
}

/// An enumeration of code points that keeps the ones it does not know.
macro_rules! open_enum {
    (
        $(#[$meta:meta])*
        $name:ident($int:ty) {
            $($(#[$variant_meta:meta])* $variant:ident = $value:literal, $c_name:literal;)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_meta])* #[doc = concat!(" (`", $c_name, "`, ", $value, ").")] $variant,)*
            /// A code point that is not listed; it is written back as it came.
            Unknown($int),
        }

        impl $name {
            /// The value named by a number on the wire.
            #[must_use]
            pub const fn from_wire(number: $int) -> Self {
                match number {
                    $($value => Self::$variant,)*
                    other => Self::Unknown(other),
                }
            }

            /// The number on the wire.
            #[must_use]
            pub const fn to_wire(self) -> $int {
                match self {
                    $(Self::$variant => $value,)*
                    Self::Unknown(other) => other,
                }
            }
        }

        impl $name {
            /// The C name; of an unlisted code point the name of its type.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $c_name,)*
                    Self::Unknown(_) => stringify!($name),
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                match self {
                    $(Self::$variant => f.write_str($c_name),)*
                    Self::Unknown(other) => write!(f, "{other}"),
                }
            }
        }
    };
}

/// A word of flags; bits without a name are kept.
macro_rules! flags {
    (
        $(#[$($meta:tt)*])*
        $name:ident($int:ty) {
            $($(#[$($flag_meta:tt)*])* $flag:ident = $value:expr;)*
        }
    ) => {
        ::bitflags::bitflags! {
            $(#[$($meta)*])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
            pub struct $name: $int {
                $($(#[$($flag_meta)*])* const $flag = $value;)*
                const _ = !0;
            }
        }
    };
}

pub(crate) use flags;
pub(crate) use number;
pub(crate) use open_enum;
